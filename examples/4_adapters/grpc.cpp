/// A unary gRPC call, blocking: grpc ADDRESS

#include <grpcpp/grpcpp.h>
#include <shop.grpc.pb.h>
#include <iostream>
#include <reprise/retry.hpp>
#include <reprise/retry/adapters/grpc.hpp>

int main(int, char** arguments) {
    // [call]
    shop::Shop::Stub stub(grpc::CreateChannel(arguments[1], grpc::InsecureChannelCredentials()));
    shop::Stock stock;
    const auto ended = reprise::retry(reprise::attempts(5), [&] {
        grpc::ClientContext context;
        return reprise::adapters::grpc_result(stub.Find(&context, {}, &stock), context);
    });
    std::cout << ended.status().error_code() << ' ' << stock.count() << '\n';
    // [/call]
}
